module example.com/encodedsecrets

go 1.24.0

require (
	github.com/go-errors/errors v1.4.2
	sigs.k8s.io/kustomize/api v0.20.1
	sigs.k8s.io/kustomize/kyaml v0.20.1
)
