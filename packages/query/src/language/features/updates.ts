import type { FeatureGroup } from '../feature-group.js'

export const updateOperators: FeatureGroup = {
  title: 'Update operators',
  about: 'An unknown operator fails the statement with FailedToParse: "Unknown modifier".',
  source: 'ops/modifier_table.cpp (2.6), update/modifier_table.cpp; reference/operator/update; release notes 3.6',
  since: {
    '2.6': [
      '$addToSet',
      '$bit',
      '$currentDate',
      '$inc',
      '$max',
      '$min',
      '$mul',
      '$pop',
      '$pull',
      '$pullAll',
      '$push',
      '$pushAll',
      '$rename',
      '$set',
      '$setOnInsert',
      '$unset',
    ],
  },
  removed: { '3.6': ['$pushAll'] },
}
