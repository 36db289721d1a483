//! The field specs that every build starts with: the fields of known kinds that hold labels,
//! annotations, images, names and so on.

use super::field_spec::DefaultSpec;
use rustomize_base::compat::Compat;

/// Makes a spec of `group, version, kind, path, create`.
const fn spec(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
    create: bool,
) -> DefaultSpec {
    DefaultSpec { group, version, kind, path, create, asks: |_| true }
}

impl DefaultSpec {
    /// The spec, for versions of kustomize that say yes to a question alone.
    const fn only_if(self, asks: fn(Compat) -> bool) -> DefaultSpec {
        DefaultSpec { asks, ..self }
    }
}

/// The target of name references, and the fields that hold them.
pub struct DefaultReference {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub fields: &'static [DefaultSpec],
}

/// Fields in which AnnotationsTransformer sets annotations.
#[rustfmt::skip]
pub static COMMON_ANNOTATIONS: [DefaultSpec; 9] = [
    spec("", "", "Deployment", "spec/template/metadata/annotations", true),
    spec("", "", "StatefulSet", "spec/template/metadata/annotations", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
    spec("batch", "", "Job", "spec/template/metadata/annotations", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/annotations", true),
    spec("", "", "DaemonSet", "spec/template/metadata/annotations", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/annotations", true),
    spec("", "", "", "metadata/annotations", true),
];

/// Fields in which LabelTransformer sets labels, selectors included.
#[rustfmt::skip]
pub static COMMON_LABELS: [DefaultSpec; 32] = [
    spec("", "v1", "Service", "spec/selector", true),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    spec("", "", "Deployment", "spec/selector/matchLabels", true),
    spec("", "", "Deployment", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/selector/matchLabels", true),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    spec("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels", false),
    spec("batch", "", "Job", "spec/selector/matchLabels", false),
    spec("batch", "", "Job", "spec/template/metadata/labels", true),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels", false),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    spec("", "v1", "ReplicationController", "spec/selector", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/labels", true),
    spec("", "", "DaemonSet", "spec/selector/matchLabels", true),
    spec("", "", "DaemonSet", "spec/template/metadata/labels", true),
    spec("", "", "ReplicaSet", "spec/selector/matchLabels", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/labels", true),
    spec("", "", "", "metadata/labels", true),
];

/// Fields in which ImageTagTransformer finds images, apart from container lists.
#[rustfmt::skip]
pub static IMAGES: [DefaultSpec; 7] = [
    spec("", "", "", "spec/containers[]/image", true),
    spec("", "", "", "spec/initContainers[]/image", true),
    spec("", "", "", "spec/volumes[]/image/reference", true).only_if(Compat::images_of_volumes),
    spec("", "", "", "spec/template/spec/containers[]/image", true),
    spec("", "", "", "spec/template/spec/initContainers[]/image", true),
    spec("", "", "", "spec/template/spec/volumes[]/image/reference", true).only_if(Compat::images_of_volumes),
    spec("", "", "", "spec/jobTemplate/spec/template/spec/volumes[]/image/reference", true).only_if(Compat::images_of_cron_job_volumes),
];

/// Fields to which PrefixTransformer adds the prefix.
#[rustfmt::skip]
pub static NAME_PREFIX: [DefaultSpec; 1] = [
    spec("", "", "", "metadata/name", false),
];

/// Fields in which NamespaceTransformer sets namespaces, apart from `metadata/namespace`.
#[rustfmt::skip]
pub static NAMESPACE: [DefaultSpec; 3] = [
    spec("", "", "Namespace", "metadata/name", true),
    spec("apiextensions.k8s.io", "", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace", false),
    spec("apiregistration.k8s.io", "", "APIService", "spec/service/namespace", true),
];

/// Fields to which SuffixTransformer adds the suffix.
#[rustfmt::skip]
pub static NAME_SUFFIX: [DefaultSpec; 1] = [
    spec("", "", "", "metadata/name", false),
];

/// Fields in which ReplicaCountTransformer sets counts.
#[rustfmt::skip]
pub static REPLICAS: [DefaultSpec; 4] = [
    spec("", "", "Deployment", "spec/replicas", true),
    spec("", "", "StatefulSet", "spec/replicas", true),
    spec("", "", "ReplicaSet", "spec/replicas", true),
    spec("", "", "ReplicationController", "spec/replicas", true),
];

/// Fields in which LabelTransformer sets the labels of templates.
#[rustfmt::skip]
pub static TEMPLATE_LABELS: [DefaultSpec; 10] = [
    spec("", "", "Deployment", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true).only_if(Compat::labels_volume_claims_with_templates),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    spec("batch", "", "Job", "spec/template/metadata/labels", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/labels", true),
    spec("", "", "DaemonSet", "spec/template/metadata/labels", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/labels", true),
    spec("", "", "", "metadata/labels", true),
];

/// Fields in which LabelTransformer sets the labels of volume claim templates.
#[rustfmt::skip]
pub static VOLUME_CLAIM_TEMPLATE_LABELS: [DefaultSpec; 1] = [
    spec("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
];

/// Fields in which variables are replaced.
#[rustfmt::skip]
pub static VAR_REFERENCE: [DefaultSpec; 72] = [
    spec("", "", "Service", "spec/ports/port", false),
    spec("", "", "Service", "spec/ports/targetPort", false),
    spec("", "", "PersistentVolume", "spec/nfs/server", false),
    spec("", "", "Deployment", "spec/template/spec/containers/args", false),
    spec("", "", "Deployment", "spec/template/spec/containers/command", false),
    spec("", "", "Deployment", "spec/template/spec/containers/env/value", false),
    spec("", "", "Deployment", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/args", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/command", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Deployment", "spec/template/metadata/annotations", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/args", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/command", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/args", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/command", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/value", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/args", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/command", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/value", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/args", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/command", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Ingress", "spec/rules/host", false),
    spec("", "", "Ingress", "spec/tls/hosts", false),
    spec("", "", "Ingress", "spec/tls/secretName", false),
    spec("", "", "Job", "spec/template/spec/containers/args", false),
    spec("", "", "Job", "spec/template/spec/containers/command", false),
    spec("", "", "Job", "spec/template/spec/containers/env/value", false),
    spec("", "", "Job", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Job", "spec/template/spec/initContainers/args", false),
    spec("", "", "Job", "spec/template/spec/initContainers/command", false),
    spec("", "", "Job", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "Job", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Job", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Pod", "spec/containers/args", false),
    spec("", "", "Pod", "spec/containers/command", false),
    spec("", "", "Pod", "spec/containers/env/value", false),
    spec("", "", "Pod", "spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Pod", "spec/initContainers/args", false),
    spec("", "", "Pod", "spec/initContainers/command", false),
    spec("", "", "Pod", "spec/initContainers/env/value", false),
    spec("", "", "Pod", "spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Pod", "spec/volumes/nfs/server", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/args", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/command", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "", "metadata/labels", false),
    spec("", "", "", "metadata/annotations", false),
];

/// Name references, in the order in which their filters run.
#[rustfmt::skip]
pub static NAME_REFERENCES: [DefaultReference; 16] = [
    DefaultReference { group: "storage.k8s.io", version: "v1", kind: "StorageClass", fields: &[
        spec("", "", "PersistentVolume", "spec/storageClassName", false),
        spec("", "", "PersistentVolumeClaim", "spec/storageClassName", false),
        spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "ServiceAccount", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "subjects", false),
        spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "subjects", false),
        spec("", "", "Deployment", "spec/template/spec/serviceAccountName", false),
        spec("", "", "StatefulSet", "spec/template/spec/serviceAccountName", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/serviceAccountName", false),
        spec("", "", "DaemonSet", "spec/template/spec/serviceAccountName", false),
        spec("", "", "Job", "spec/template/spec/serviceAccountName", false),
        spec("", "", "Pod", "spec/serviceAccountName", false),
        spec("", "", "ReplicationController", "spec/template/spec/serviceAccountName", false),
    ] },
    DefaultReference { group: "rbac.authorization.k8s.io", version: "", kind: "Role", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name", false),
    ] },
    DefaultReference { group: "rbac.authorization.k8s.io", version: "", kind: "ClusterRole", fields: &[
        spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name", false),
        spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "roleRef/name", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "ConfigMap", fields: &[
        spec("", "", "Role", "rules/resourceNames", false),
        spec("", "", "ClusterRole", "rules/resourceNames", false),
        spec("", "", "Deployment", "spec/template/spec/volumes/configMap/name", false),
        spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/configMap/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/configMap/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "v1", "Pod", "spec/volumes/configMap/name", false),
        spec("", "v1", "Pod", "spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "v1", "Pod", "spec/containers/envFrom/configMapRef/name", false),
        spec("", "v1", "Pod", "spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "v1", "Pod", "spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/configMap/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap", false),
        spec("", "", "Job", "spec/template/spec/volumes/configMap/name", false),
        spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "Job", "spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "Job", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "Job", "spec/template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "Node", "spec/configSource/configMap", false),
        spec("", "", "PodTemplate", "template/spec/volumes/configMap/name", false),
        spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "PodTemplate", "template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/configMap/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/configMap/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "Secret", fields: &[
        spec("", "", "StorageClass", "parameters/secretName", false),
        spec("", "", "StorageClass", "parameters/adminSecretName", false),
        spec("", "", "StorageClass", "parameters/userSecretName", false),
        spec("", "", "StorageClass", "parameters/secretRef", false),
        spec("", "", "ServiceAccount", "imagePullSecrets/name", false),
        spec("", "", "Role", "rules/resourceNames", false),
        spec("", "", "ClusterRole", "rules/resourceNames", false),
        spec("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "PersistentVolume", "spec/azureFile/secretName", false),
        spec("", "", "Deployment", "spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "Deployment", "spec/template/spec/imagePullSecrets/name", false),
        spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/imagePullSecrets/name", false),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/imagePullSecrets/name", false),
        spec("", "v1", "Pod", "spec/volumes/secret/secretName", false),
        spec("", "v1", "Pod", "spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "v1", "Pod", "spec/containers/envFrom/secretRef/name", false),
        spec("", "v1", "Pod", "spec/initContainers/envFrom/secretRef/name", false),
        spec("", "v1", "Pod", "spec/imagePullSecrets/name", false),
        spec("", "v1", "Pod", "spec/volumes/projected/sources/secret/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/imagePullSecrets/name", false),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "Ingress", "spec/tls/secretName", false),
        spec("", "", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret", false),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret", false),
        spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret", false),
        spec("", "", "Ingress", "spec/tls/secretName", false),
        spec("", "", "Job", "spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "Job", "spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "Job", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "Job", "spec/template/spec/imagePullSecrets/name", false),
        spec("", "", "Job", "spec/template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "PodTemplate", "template/spec/volumes/secret/secretName", false),
        spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "PodTemplate", "template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "PodTemplate", "template/spec/imagePullSecrets/name", false),
        spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/secret/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/secret/secretName", false),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/imagePullSecrets/name", false),
        spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "Service", fields: &[
        spec("apps", "", "StatefulSet", "spec/serviceName", false),
        spec("apiregistration.k8s.io", "", "APIService", "spec/service/name", false),
        spec("", "", "Ingress", "spec/rules/http/paths/backend/serviceName", false),
        spec("", "", "Ingress", "spec/backend/serviceName", false),
        spec("", "", "Ingress", "spec/rules/http/paths/backend/service/name", false),
        spec("", "", "Ingress", "spec/defaultBackend/service/name", false),
        spec("admissionregistration.k8s.io", "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service", false),
        spec("admissionregistration.k8s.io", "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service", false),
    ] },
    DefaultReference { group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass", fields: &[
        spec("", "", "Deployment", "spec/template/spec/priorityClassName", false),
        spec("", "", "StatefulSet", "spec/template/spec/priorityClassName", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/priorityClassName", false),
        spec("", "", "DaemonSet", "spec/template/spec/priorityClassName", false),
        spec("", "", "Job", "spec/template/spec/priorityClassName", false),
        spec("", "", "Pod", "spec/priorityClassName", false),
        spec("", "", "ReplicationController", "spec/template/spec/priorityClassName", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "PersistentVolume", fields: &[
        spec("", "", "ClusterRole", "rules/resourceNames", false),
        spec("", "", "PersistentVolumeClaim", "spec/volumeName", false),
    ] },
    DefaultReference { group: "", version: "v1", kind: "PersistentVolumeClaim", fields: &[
        spec("", "", "Deployment", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "StatefulSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "DaemonSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "Job", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "Pod", "spec/volumes/persistentVolumeClaim/claimName", false),
        spec("", "", "ReplicationController", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    ] },
    DefaultReference { group: "", version: "", kind: "Deployment", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
    ] },
    DefaultReference { group: "", version: "", kind: "StatefulSet", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
    ] },
    DefaultReference { group: "admissionregistration.k8s.io", version: "", kind: "ValidatingAdmissionPolicy", fields: &[
        spec("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicyBinding", "spec/policyName", false).only_if(Compat::refers_to_admission_policies),
    ] },
    DefaultReference { group: "networking.k8s.io/v1", version: "v1", kind: "IngressClass", fields: &[
        spec("", "", "Ingress", "spec/ingressClassName", false),
    ] },
    DefaultReference { group: "", version: "", kind: "ReplicaSet", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
    ] },
    DefaultReference { group: "", version: "", kind: "ReplicationController", fields: &[
        spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
    ] },
];
