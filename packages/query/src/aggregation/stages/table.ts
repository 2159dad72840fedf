/** The pipeline stages. */
import { bucketAutoStage } from './bucket-auto.js'
import { bucketStage } from './bucket.js'
import { documentsStage } from './documents.js'
import { densifyStage } from './densify.js'
import { facetStage } from './facet.js'
import { fillStage } from './fill.js'
import { graphLookupStage } from './graph-lookup.js'
import { groupStage } from './group.js'
import { lookupStage } from './lookup.js'
import { mergeStage } from './merge.js'
import { orderStages } from './order.js'
import { outStage } from './out.js'
import { redactStage } from './redact.js'
import { sampleStage } from './sample.js'
import { setWindowFieldsStage } from './set-window-fields.js'
import { shorthandStages } from './shorthand.js'
import { simpleStages } from './simple.js'
import { sourceStages } from './sources.js'
import type { StageOperator } from './stage.js'
import { unionWithStage } from './union-with.js'
import { unwindStage } from './unwind.js'

export const stageOperators: ReadonlyMap<string, StageOperator> = new Map(
  [
    ...simpleStages,
    groupStage,
    ...orderStages,
    unwindStage,
    ...shorthandStages,
    bucketStage,
    bucketAutoStage,
    facetStage,
    lookupStage,
    graphLookupStage,
    unionWithStage,
    redactStage,
    sampleStage,
    setWindowFieldsStage,
    densifyStage,
    fillStage,
    documentsStage,
    ...sourceStages,
    outStage,
    mergeStage,
  ].map((row) => [row.name, row]),
)
