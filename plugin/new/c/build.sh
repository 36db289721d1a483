read -ra yaml <<< "$(pkg-config --cflags --libs yaml-0.1)"
cc -shared -fPIC -O2 -Wall -Wextra -o plugin/plugin.so src/plugin.c "${yaml[@]}"
