import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'

/** Of `--version` and of the log line that tools read. */
export function buildInfoOf(emulate: EmulatedVersion): Readonly<Record<string, unknown>> {
  return {
    version: behavioursOf(emulate).serverVersion,
    gitVersion: '0'.repeat(40),
    modules: [],
    allocator: 'system',
    environment: { distmod: 'shardlab', distarch: 'x86_64', target_arch: 'x86_64' },
  }
}
