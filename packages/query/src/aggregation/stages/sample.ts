import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { truncateToInt64 } from '../../values/arithmetic.js'
import type { CompiledStage, StageContext, StageOperator } from './stage.js'
import { newestLanguage } from '../../language/language.js'

/** Before 7.0 a sample may be empty. */
function sizeOf(argument: RawValue, mayBeEmpty: boolean): number {
  if (argument.type !== BsonType.object)
    throw new CommandError(28745, 'the $sample stage specification must be an object')
  let size: number | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() !== 'size') throw new CommandError(28748, `unrecognized option to $sample: ${it.name()}`)
    const value = it.value()
    if (!value.isNumber()) throw new CommandError(28746, 'size argument to $sample must be a number')
    size = Number(truncateToInt64(value) ?? 0n)
    if (size < 0 && mayBeEmpty) throw new CommandError(28747, 'size argument to $sample must not be negative')
    if (size <= 0 && !mayBeEmpty) throw new CommandError(28747, 'size argument to $sample must be a positive integer')
  }
  if (size === null) throw new CommandError(28749, '$sample stage must specify a size')
  return size
}

function compileSample(argument: RawValue, { evaluation }: StageContext): CompiledStage {
  const size = sizeOf(argument, (evaluation.language ?? newestLanguage).emptySamples)
  return {
    name: '$sample',
    open(next, rest) {
      // Algorithm R: all subsets are equally likely.
      const kept: Uint8Array[] = []
      let seen = 0
      return {
        satisfied: false,
        push(document) {
          seen++
          if (kept.length < size) kept.push(document)
          else {
            const at = Math.floor(evaluation.random() * seen)
            if (at < size) kept[at] = document
          }
        },
        end() {
          for (let i = kept.length - 1; i > 0; i--) {
            const j = Math.floor(evaluation.random() * (i + 1))
            ;[kept[i], kept[j]] = [kept[j]!, kept[i]!]
          }
          rest.emit(next, kept.values())
        },
      }
    },
  }
}

export const sampleStage: StageOperator = {
  name: '$sample',
  manualPage: 'aggregation/sample',
  status: 'complete',
  sharded: 'merger',
  compile: compileSample,
}
