import { OptionError, type ClusterOptions } from '@shardlab/cluster'
import { natsOptions, type NatsFlags } from './nats-flags.js'

/**
 * undefined: the members run in this process.
 * @param places texts such as `config=H1,H2`
 * @throws OptionError
 */
export function machinesOfFlags(
  flags: NatsFlags,
  machines: readonly string[] | undefined,
  places: readonly string[] | undefined,
): ClusterOptions['nats'] {
  const server = natsOptions(flags)
  if (server === null) {
    if (machines === undefined && places === undefined) return undefined
    throw new OptionError('--machines and --place need --nats, the server that connects the hosts.')
  }
  if (machines === undefined) throw new OptionError('--nats needs --machines, the names of the hosts, such as H1,H2.')
  return { ...server, machines, ...(places === undefined ? {} : { place: Object.fromEntries(places.map(placeOf)) }) }
}

function placeOf(text: string): [string, string[]] {
  const match = /^([^=]+)=(.+)$/.exec(text)
  if (match === null) throw new OptionError(`--place ${text} is not like config=H1 or shard01=H1,H2.`)
  return [match[1]!, match[2]!.split(',')]
}
