/** The pipeline stages: every one that runs on documents of a collection has its row here. */
import { bucketStagesRows } from './bucket.js'
import { facetStage } from './facet.js'
import { groupStage } from './group.js'
import { orderStages } from './order.js'
import { redactStage } from './redact.js'
import { sampleStage } from './sample.js'
import { shorthandStages } from './shorthand.js'
import { simpleStages } from './simple.js'
import type { StageOperator } from './stage.js'
import { unwindStage } from './unwind.js'

export const stageOperators: ReadonlyMap<string, StageOperator> = new Map(
  [
    ...simpleStages,
    groupStage,
    ...orderStages,
    unwindStage,
    ...shorthandStages,
    ...bucketStagesRows,
    facetStage,
    redactStage,
    sampleStage,
  ].map((row) => [row.name, row]),
)
