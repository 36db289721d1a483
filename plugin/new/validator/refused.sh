if said=$(rustomize plugin run --as validator example/object.yaml < example/refused.yaml 2>&1); then
  echo "the plugin accepted example/refused.yaml"
  exit 1
fi
grep --quiet 'ConfigMap other has no label team' <<< "$said"
