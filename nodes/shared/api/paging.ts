import isEqual from 'lodash/isEqual';
import { OutcomeUnknown } from './errors';
import type { JsonValue } from '../json';

/** One part of a list, and what asks for the next; no `next` where the list ends. */
export type Part<Position> = { entries: JsonValue[]; next?: Position };

/**
 * Reads a list part by part until the limit is reached, the list ends or a part is empty.
 * The first part is asked for without a position.
 *
 * @throws OutcomeUnknown when the service gives the same part again, or leads back to one, as the list would never end
 */
export async function readParts<Position>(
	read: (position: Position | undefined, found: number) => Promise<Part<Position>>,
	limit: number,
	sameAgain: string,
): Promise<JsonValue[]> {
	const found: JsonValue[] = [];
	const asked = new Set<string>();
	let position: Position | undefined;
	let former: JsonValue[] = [];
	for (;;) {
		const { entries, next } = await read(position, found.length);
		if (entries.length > 0 && isEqual(entries, former)) throw again(sameAgain);
		found.push(...entries);
		if (next === undefined || entries.length === 0 || found.length >= limit) break;
		const key = JSON.stringify(next);
		if (asked.has(key)) throw again(sameAgain);
		asked.add(key);
		position = next;
		former = entries;
	}
	return found.slice(0, limit);
}

function again(resolution: string): OutcomeUnknown {
	return new OutcomeUnknown('The service gave the same part of the list again', resolution);
}
