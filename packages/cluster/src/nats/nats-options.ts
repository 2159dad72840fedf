import { OptionError } from '../option-error.js'

/** Members run on machines that a NATS server connects. */
export interface ClusterMachines {
  /** `nats://host:4222` or `tls://…`, with `user:password@` or `token@`; several, with commas. */
  readonly url: string
  /** File with the credentials of a user of NATS, as `nsc` writes it. Default: none. */
  readonly credsFile?: string
  /** PEM files: authorities of the server, and certificate and key of this client. */
  readonly tlsCaFile?: string
  readonly tlsCertFile?: string
  readonly tlsKeyFile?: string
  /** Names of running hosts: `shardlab host --name`. */
  readonly machines: readonly string[]
  /**
   * Machines for some members, by `mongos`, `config`, `shards`, `balancer`, the name of a set or of
   * a member; the most specific one holds. Default: all machines. Members of one set are on
   * different machines if there are enough.
   */
  readonly place?: Readonly<Record<string, readonly string[]>>
}

export function checkMachines({ url, machines, place = {} }: ClusterMachines): void {
  if (typeof url !== 'string') throw new OptionError('nats.url must be an address such as nats://127.0.0.1:4222.')
  if (!Array.isArray(machines) || machines.length === 0 || machines.some((name) => typeof name !== 'string'))
    throw new OptionError('nats.machines must name the hosts, such as H1,H2: start each with shardlab host.')
  for (const [key, names] of Object.entries(place)) {
    const unknown = names.find((name) => !machines.includes(name))
    if (unknown !== undefined)
      throw new OptionError(`${key} is placed on ${unknown}, which is not one of the machines ${machines.join(', ')}.`)
  }
}
