export * from '@shardlab/cluster'
