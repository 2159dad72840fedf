/** Options of commands that reach NATS. */
import type { Command } from 'commander'
import type { NatsOptions } from '@shardlab/nats'

export interface NatsFlags {
  readonly nats?: string
  readonly natsCreds?: string
  readonly natsTlsCa?: string
  readonly natsTlsCert?: string
  readonly natsTlsKey?: string
}

/** @param what the text of `--nats` */
export function addNatsFlags(command: Command, what: string): Command {
  return command
    .option('--nats <url>', what)
    .option('--nats-creds <file>', 'credentials of the user of NATS, as nsc writes them')
    .option('--nats-tls-ca <file>', 'certificates of the authority that signed the server of NATS')
    .option('--nats-tls-cert <file>', 'certificate of this client')
    .option('--nats-tls-key <file>', 'key of this certificate')
}

export interface JobFlags extends NatsFlags {
  readonly job?: string
}

/** Of commands whose jobs workers play. */
export function addJobFlags(command: Command, jobs: string): Command {
  command.optionsGroup('Workers on other machines:')
  return addNatsFlags(command, `let the workers of this server play the ${jobs}, as nats://host:4222`).option(
    '--job <name>',
    'name of the job; started again with it, the command resumes a job that it did not end',
  )
}

/** null: without NATS. */
export function natsOptions({ nats, natsCreds, natsTlsCa, natsTlsCert, natsTlsKey }: NatsFlags): NatsOptions | null {
  if (nats === undefined) return null
  return {
    url: nats,
    ...(natsCreds === undefined ? {} : { credsFile: natsCreds }),
    ...(natsTlsCa === undefined ? {} : { tlsCaFile: natsTlsCa }),
    ...(natsTlsCert === undefined ? {} : { tlsCertFile: natsTlsCert }),
    ...(natsTlsKey === undefined ? {} : { tlsKeyFile: natsTlsKey }),
  }
}
