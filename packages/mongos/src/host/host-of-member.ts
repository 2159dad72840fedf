import { configAddress, type ActorContext, type Address } from '@shardlab/actor'
import type { ShardRegistry } from '../catalog/shard-registry.js'
import type { MongosOptions } from '../options.js'

interface NamedMembers {
  readonly context: ActorContext
  readonly options: MongosOptions
  readonly shards: ShardRegistry
  replicaSets(): Iterable<string>
}

/** `host:port`, for error texts; the address of a member that is not known. */
export function hostOfMember(router: NamedMembers, member: Address): string {
  if (member === configAddress) return (router.options.configHost ?? configAddress).split('/').at(-1)!
  const host = router.shards.hostOf(member)
  return host === member ? (endpointOf(router, member) ?? member) : host
}

/** Undefined: not a member of a known replica set. */
function endpointOf(router: NamedMembers, member: Address): string | undefined {
  for (const connection of router.replicaSets()) {
    const hosts = connection.slice(connection.indexOf('/') + 1).split(',')
    const host = hosts.find((each) => router.context.resolve(each)[0] === member)
    if (host !== undefined) return host
  }
  return undefined
}
