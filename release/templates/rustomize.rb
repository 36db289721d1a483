# A formula for Homebrew. It belongs into Formula/ of a tap: `brew install OWNER/tap/rustomize`.
class Rustomize < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  # @begin darwin_arm64@
  if OS.mac? && Hardware::CPU.arm?
    url "@URL darwin_arm64@"
    sha256 "@SUM darwin_arm64@"
  end
  # @end@
  # @begin darwin_amd64@
  if OS.mac? && Hardware::CPU.intel?
    url "@URL darwin_amd64@"
    sha256 "@SUM darwin_amd64@"
  end
  # @end@
  # @begin linux_arm64@
  if OS.linux? && Hardware::CPU.arm?
    url "@URL linux_arm64@"
    sha256 "@SUM linux_arm64@"
  end
  # @end@
  # @begin linux_amd64@
  if OS.linux? && Hardware::CPU.intel?
    url "@URL linux_amd64@"
    sha256 "@SUM linux_amd64@"
  end
  # @end@

  def install
    bin.install "rustomize"
    bin.install_symlink "rustomize" => "kubectl-rustomize"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/rustomize.bash" => "rustomize"
    zsh_completion.install "completions/_rustomize"
    fish_completion.install "completions/rustomize.fish"
  end

  test do
    (testpath/"kustomization.yaml").write "configMapGenerator: [{name: a, literals: [b=c]}]\n"
    assert_match "kind: ConfigMap", shell_output("#{bin}/rustomize build .")
  end
end
