import type { ActorFactory } from '@shardlab/actor'
import type { RoleLoader } from '@shardlab/runtime'

/** Each role is loaded when its first member starts. */
export const lazyRoles: Record<string, RoleLoader> = {
  mongod: async () => (await import('@shardlab/node')).createMongod,
  shard: async () => (await import('@shardlab/shard')).createShard,
  'config-server': async () => (await import('@shardlab/config-server')).createConfigServer,
  mongos: async () => (await import('@shardlab/mongos')).createMongos,
  balancer: async () => (await import('@shardlab/balancer')).createBalancer,
  /** Finds the primaries of sets with several members, which needs more code. */
  'balancer-of-sets': async () => {
    const [{ createBalancer }, { SetContext }] = await Promise.all([
      import('@shardlab/balancer'),
      import('@shardlab/member'),
    ])
    return (context, options) => createBalancer(new SetContext(context, 0), options)
  },
}

export async function loadRoles(): Promise<Record<string, ActorFactory>> {
  const roles: Record<string, ActorFactory> = {}
  for (const [name, load] of Object.entries(lazyRoles)) roles[name] = (await load()) as ActorFactory
  return roles
}
