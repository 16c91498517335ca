/** For partial objects: n8n-core reads only some members, n8n's server reads the rest. */
export const isObject = (value: unknown): boolean => typeof value === 'object';
