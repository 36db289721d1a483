# nix run @REPOSITORY@/releases/latest/download/rustomize-flake.tar.gz
#
# The program is that of the release, from the package for npm, as its files are in one directory. It
# puts itself into its place, so nothing of nixpkgs is needed.
{
  description = "@SUMMARY@";
  outputs = _:
    let
      sources = {
        # @begin linux_amd64@
        x86_64-linux = { url = "@NPM linux_amd64@"; sha256 = "@NAR linux_amd64@"; };
        # @end@
        # @begin linux_arm64@
        aarch64-linux = { url = "@NPM linux_arm64@"; sha256 = "@NAR linux_arm64@"; };
        # @end@
        # @begin darwin_amd64@
        x86_64-darwin = { url = "@NPM darwin_amd64@"; sha256 = "@NAR darwin_amd64@"; };
        # @end@
        # @begin darwin_arm64@
        aarch64-darwin = { url = "@NPM darwin_arm64@"; sha256 = "@NAR darwin_arm64@"; };
        # @end@
      };
      rustomize = system: source:
        derivation {
          inherit system;
          name = "rustomize-@VERSION@";
          builder = "${builtins.fetchTarball source}/bin/rustomize";
          args = [ "install-to" "${placeholder "out"}/bin" "--as" "rustomize" "kubectl-rustomize" ];
        } // { meta.mainProgram = "rustomize"; };
    in {
      packages = builtins.mapAttrs (system: source: { default = rustomize system source; }) sources;
    };
}
