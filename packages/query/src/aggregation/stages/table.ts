import { bucketAutoStage } from './groups/bucket-auto.js'
import { bucketStage } from './groups/bucket.js'
import { documentsStage } from './sources/documents.js'
import { densifyStage } from './gaps/densify.js'
import { facetStage } from './groups/facet.js'
import { fillStage } from './gaps/fill.js'
import { graphLookupStage } from './joins/graph-lookup.js'
import { groupStage } from './groups/group.js'
import { lookupStage } from './joins/lookup.js'
import { mergeStage } from './writers/merge.js'
import { orderStages } from './order.js'
import { outStage } from './writers/out.js'
import { redactStage } from './per-document/redact.js'
import { sampleStage } from './sample.js'
import { setWindowFieldsStage } from '../windows/set-window-fields.js'
import { shorthandStages } from './shorthand.js'
import { simpleStages } from './per-document/simple.js'
import { sourceStages } from './sources/sources.js'
import { splitLargeEventStage } from './per-document/split-large-event.js'
import type { StageOperator } from './stage.js'
import { unionWithStage } from './joins/union-with.js'
import { unwindStage } from './per-document/unwind.js'

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
    splitLargeEventStage,
    outStage,
    mergeStage,
  ].map((row) => [row.name, row]),
)
