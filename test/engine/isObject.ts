/** For objects of which n8n-core reads only some members: the rest belongs to n8n's own server. */
export const isObject = (value: unknown): boolean => typeof value === 'object';
