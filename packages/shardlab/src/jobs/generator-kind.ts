import type { JobKind } from '@shardlab/jobs'

/** A generator of a load test is a job: its input and output are those of `serveGenerator`. */
export const generatorJobs: JobKind<unknown, unknown> = {
  name: 'generator',
  module: new URL('./generator.worker.js', import.meta.url).href,
}
