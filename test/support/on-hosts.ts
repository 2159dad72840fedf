import type { ClusterOptions } from 'shardlab'

/** `nats://host:port H1,H2`: clusters of suites run on these hosts. */
const [url, machines] = process.env['SHARDLAB_HOSTS']?.split(' ') ?? []

/** The options, on the hosts of this run if it has some. */
export function onHosts(options: ClusterOptions): ClusterOptions {
  if (url === undefined || machines === undefined) return options
  const { runtime: _runtime, hosts: _hosts, ...rest } = options
  return { ...rest, nats: { url, machines: machines.split(',') } }
}

export const areOnHosts = url !== undefined
