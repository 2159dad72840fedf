import type { OuterStage } from '@shardlab/query'
import { writeMerge } from './merge-writer.js'
import { writeOut } from './out-writer.js'
import type { PipelineResults, WriteSink } from './write-sink.js'

/**
 * @param db database of the pipeline
 * @throws CommandError the errors of {@link writeOut} and {@link writeMerge}
 */
export function writeResults(
  { name, argument }: OuterStage,
  db: string,
  results: PipelineResults,
  sink: WriteSink,
): Promise<void> {
  return name === '$out' ? writeOut(argument, db, results, sink) : writeMerge(argument, db, results, sink)
}
