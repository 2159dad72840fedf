import { BsonType, CommandError, isEmptyDocument } from '@shardlab/bson'
import { passThroughStage, type StageOperator } from '../stage.js'

const name = '$changeStreamSplitLargeEvent'

/** The member that runs the change stream splits its events. */
export const splitLargeEventStage: StageOperator = {
  name,
  manualPage: 'aggregation/changeStreamSplitLargeEvent',
  status: 'complete',
  sharded: 'shards',
  notIn: ['facet', 'lookup', 'unionWith'],
  inStreams: true,
  compile(argument) {
    if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
      throw new CommandError(7182800, `${name} spec should be an empty object`)
    return passThroughStage(name)
  },
}
