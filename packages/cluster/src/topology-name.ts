export type TopologyName = 'sharded' | 'replica-set'
