import { ServiceRefusal, type ExplainedError } from '../core/explained';
import type { LeftOutRow } from './feed';

/** Statuses documented for validation; at any other a refusal is no word about single rows. */
const VALIDATION_STATUSES = new Set([400, 422]);
const CONTACT_INDEX = /\bcontacts\s*\[\s*(\d+)\s*\]/gi;

/** The rows of a refused request that the service names as `contacts[<index>]`, each with its words. */
export function namedRows(error: ExplainedError, rows: readonly number[]): LeftOutRow[] {
	if (!(error instanceof ServiceRefusal) || !VALIDATION_STATUSES.has(error.status)) return [];
	const named = new Map<number, string>();
	for (const text of error.refusal.texts) {
		for (const [, position] of text.matchAll(CONTACT_INDEX)) {
			const index = rows[Number(position)];
			if (index !== undefined && !named.has(index)) named.set(index, text);
		}
	}
	return [...named].map(([index, text]) => ({
		index,
		status: 'rejected',
		reason: `The service does not accept this row. It said: ${text}`,
	}));
}
