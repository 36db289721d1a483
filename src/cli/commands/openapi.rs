//! `openapi`: the schema of Kubernetes' kinds that a build uses, the fields of a kind, and the
//! schema of a cluster.

use crate::flags::word::Word;
use crate::{host, writer};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use rustomize_engine::check::{self, Known};
use rustomize_process::{Failure, Launch, Limits};
use rustomize_yaml::{Heap, emit, json};

/// The schema that builds use, as kustomize prints it.
const INFO: &str = "{title:Kubernetes,version:v1.21.2}";

/// The largest schema of a cluster, in bytes.
const MAX_SCHEMA: u64 = 256 << 20;

const HELP: &str = "Error fetching schema from cluster.
Please make sure kubectl is installed, its context is set correctly, and your cluster is up.
Installation and setup instructions: https://kubernetes.io/docs/tasks/tools/install-kubectl/";

/// `openapi`.
#[derive(Args)]
pub(crate) struct Openapi {
    #[command(subcommand)]
    pub command: OpenapiCommand,
}

/// The commands of `openapi`.
#[derive(Subcommand)]
pub(crate) enum OpenapiCommand {
    /// Print which version of Kubernetes' schema a build uses
    Info {
        #[arg(hide = true)]
        ignored: Vec<String>,
    },
    /// Print the fields of a kind of Kubernetes, or of Kustomization and Component
    Show {
        /// KIND or GROUP/VERSION/KIND, as in Deployment or autoscaling/v2/HorizontalPodAutoscaler
        #[arg(value_name = "KIND")]
        kind: String,

        /// A path of fields, as in spec.template.spec.containers: the fields below it
        #[arg(value_name = "FIELD", default_value = "", hide_default_value = true)]
        field: String,

        /// The version of Kubernetes whose kinds count, as in 1.31 [default: the newest]
        #[arg(long, value_name = "VERSION")]
        kubernetes_version: Option<String>,
    },
    /// Print the schema of the cluster that kubectl talks to
    Fetch {
        /// How to print: json or yaml
        #[arg(long, value_name = "FORMAT", default_value = "json", hide_possible_values = true)]
        format: Word<OpenapiFormat>,

        #[arg(hide = true)]
        ignored: Vec<String>,
    },
}

/// The formats of `openapi fetch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpenapiFormat {
    Json,
    Yaml,
}

/// Runs `openapi`.
///
/// # Errors
/// A kind or field is unknown, kubectl fails or prints something other than JSON, or stdout is
/// closed.
pub(crate) fn run(args: &Openapi) -> Result<()> {
    let printed = match &args.command {
        OpenapiCommand::Info { .. } => format!("{INFO}\n"),
        OpenapiCommand::Show { kind, field, kubernetes_version } => {
            check::fields(&Known::new(kubernetes_version.as_deref())?, kind, field)?
        }
        OpenapiCommand::Fetch { format, .. } => fetched(format)?,
    };
    Ok(writer::data([printed])?)
}

/// The schema of the cluster, as text in a format.
fn fetched(format: &Word<OpenapiFormat>) -> Result<String> {
    let Word::Known(format) = format else { bail!("format must be either 'json' or 'yaml'") };
    let launch = Launch::new("kubectl")
        .args(["get", "--raw", "/openapi/v2"])
        .limited(Limits { output: MAX_SCHEMA, ..Limits::default() });
    let schema = host::children().run(launch).map_err(|failed| {
        let why = match failed.failure {
            Failure::NotStarted(e) => format!("kubectl cannot be started: {e}"),
            Failure::TooMuchOutput(n) => format!("kubectl printed more than {n} bytes"),
            Failure::TimedOut(t) => format!("kubectl ran longer than {} s", t.as_secs_f64()),
            Failure::Status(status) | Failure::Ended(status) => {
                format!("kubectl: {status}\n{}", failed.stderr.trim_end())
            }
            Failure::Io(e) => format!("talking to kubectl failed: {e}"),
        };
        anyhow!("{why}\n{HELP}")
    })?;
    let schema = String::from_utf8(schema).context("kubectl printed something other than text in UTF-8")?;
    let heap = Heap::new();
    let node = json::parse(heap.arena(), &schema).context("kubectl printed something other than JSON")?;
    let mut out = String::new();
    if *format == OpenapiFormat::Yaml {
        emit::document(&mut out, &node).map_err(|e| anyhow!("the schema cannot be printed: {}", e.message))?;
    } else {
        json::write_with(&mut out, &node, Some(0), &|out, scalar| {
            json::write_scalar(out, scalar);
            true
        });
    }
    // kustomize ends both formats with an empty line.
    out.push('\n');
    Ok(out)
}
