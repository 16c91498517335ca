import { z } from 'zod';

/** An object of which n8n-core reads only these members; the rest belongs to n8n's own server. */
export function standIn<T extends object>(members: object): T {
	const trusted: z.ZodType<T> = z.custom<T>((value) => typeof value === 'object');
	return trusted.parse(members);
}
