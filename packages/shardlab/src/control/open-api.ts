import { z } from 'zod'
import { operations, type Operation } from './operations.js'

/** OpenAPI 3.1. */
export function openApi(url: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = described(operation)
  return {
    openapi: '3.1.0',
    info: { title: 'Control of a Shardlab cluster', version: '0.1.0' },
    servers: [{ url }],
    paths,
  }
}

function described({ name, summary, method, path, input }: Operation): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => ({
    ...{ name: part, in: 'path', required: true, schema: { type: 'string' } },
    ...(part === 'cluster' ? { description: 'main, or the id of a fork' } : {}),
  }))
  const schema = input === null ? null : z.toJSONSchema(input, { io: 'input' })
  const inQuery =
    method === 'GET' && schema !== null
      ? Object.entries(schema.properties ?? {}).map(([query, of]) => ({
          name: query,
          in: 'query',
          required: true,
          schema: of,
        }))
      : []
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...inQuery],
    ...(method !== 'GET' && schema !== null
      ? { requestBody: { required: true, content: { 'application/json': { schema } } } }
      : {}),
    responses: {
      200: { description: 'Done; a JSON object', content: { 'application/json': { schema: { type: 'object' } } } },
      400: { description: 'Wrong input, or not possible now; { error } says why' },
      404: { description: 'There is no such cluster or operation' },
    },
  }
}
