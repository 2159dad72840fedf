/** `standalone`: one mongod without a replica set. */
export type TopologyName = 'sharded' | 'replica-set' | 'standalone'

export const topologyNames: readonly TopologyName[] = ['sharded', 'replica-set', 'standalone']
