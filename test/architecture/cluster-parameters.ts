import { clusterParameters } from '@shardlab/member'
import { BsonType, type RawValue } from '@shardlab/bson'
import { behavioursOf, emulatedVersions } from '@shardlab/sharding'

/** docs/reference/cluster-parameters.md, from the table of parameters. */
export function clusterParametersPage(notice: string): string {
  return [
    notice,
    '',
    '# Cluster parameters',
    '',
    'Parameters of the whole cluster. Any router sets them. The config server and all shards store them',
    'in `config.clusterParameters`, and shards that are added get them. They survive restarts and are',
    'part of copies of the cluster.',
    '',
    '```js',
    'db.adminCommand({ setClusterParameter: { changeStreamOptions: { preAndPostImages: { expireAfterSeconds: 100 } } } })',
    "db.adminCommand({ getClusterParameter: 'changeStreamOptions' })   // a name, an array of names, or '*'",
    '```',
    '',
    'Fields that `setClusterParameter` leaves out have their initial value. Another name is an error (4',
    'NoSuchKey). The parameters of servers that are missing here:',
    '[D719](deviations.md#d719-cluster-parameters). Query settings are stored in the same collection, but',
    'only `setQuerySettings` and `removeQuerySettings` change them.',
    '',
    '| parameter | versions | fields | initial value | effect |',
    '| --- | --- | --- | --- | --- |',
    ...clusterParameters.map(({ name, behaviour, inside, fields, effect }) => {
      const versions = emulatedVersions.filter((version) => behavioursOf(version)[behaviour])
      const of = (field: string): string => `\`${inside === undefined ? '' : `${inside}.`}${field}\``
      const cells = [
        `\`${name}\``,
        versions.length === 1 ? versions[0]! : `${versions[0]} to ${versions.at(-1)}`,
        fields.map((field) => of(field.name)).join(', '),
        fields.map(({ initial }) => `\`${initialText(initial)}\``).join(', '),
        effect,
      ]
      return `| ${cells.join(' | ')} |`
    }),
    '',
  ].join('\n')
}

function initialText(value: RawValue): string {
  if (value.isNumber()) return String(value.asNumber())
  return value.type === BsonType.string ? value.asString() : String(value.asBool())
}
