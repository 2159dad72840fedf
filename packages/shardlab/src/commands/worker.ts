import { availableParallelism } from 'node:os'
import { runWorker } from '@shardlab/jobs'
import { OptionError } from '@shardlab/nats'
import { swarmJobs, variantJobs } from '@shardlab/scenario/job-kinds'
import { exitCodes } from '../exit-codes.js'
import { generatorJobs } from '../jobs/generator-kind.js'
import { handleSignals } from './interruption.js'
import { natsOptions } from './nats-flags.js'
import { workerLine } from './worker-line.js'
import type { WorkerCommandOptions } from './worker-options.js'

/** @returns the exit code */
export async function worker({
  concurrency = availableParallelism(),
  allowCode,
  ...flags
}: WorkerCommandOptions): Promise<number> {
  const nats = natsOptions(flags)
  if (nats === null) throw new OptionError('worker needs --nats with the address of the server, as nats://host:4222')
  const line = workerLine(concurrency)
  const interruption = handleSignals(() =>
    line.print('stopping after the jobs in progress; press Ctrl-C again to give them to other workers'),
  )
  try {
    await runWorker({
      nats,
      kinds: [swarmJobs, variantJobs({ allowCode: allowCode === true }), generatorJobs],
      concurrency,
      stop: interruption.stop,
      hurry: interruption.hurry,
      onEvent: line.show,
    })
  } finally {
    line.end()
    interruption.end()
  }
  return interruption.exitCode() ?? exitCodes.fine
}
