import type { IDataObject } from 'n8n-workflow';
import { isJsonObject, type JsonObject, parseStringified } from '../../json';

/** Characters of output to store in full. Beyond that, only short fields such as IDs. */
const MAX_CHARACTERS = 1_000_000;
const SHORT_FIELD_CHARACTERS = 100;

/** Copies outputs for the records that n8n stores with the execution. */
export class OutputCopier {
	/** @param characters that are stored already */
	constructor(private characters: number) {}

	/** A copy that later nodes can't change. Complete until `MAX_CHARACTERS` is reached. */
	copy(json: IDataObject): JsonObject {
		const text = JSON.stringify(json);
		const whole = parseStringified(text);
		if (!isJsonObject(whole)) return {};
		this.characters += text.length;
		if (this.characters <= MAX_CHARACTERS) return whole;
		const isLong = ([, value]: [string, unknown]) =>
			JSON.stringify(value).length > SHORT_FIELD_CHARACTERS;
		const short = Object.entries(whole).filter((entry) => !isLong(entry));
		const omitted = Object.entries(whole).filter(isLong);
		if (omitted.length === 0) return whole;
		return { ...Object.fromEntries(short), not_kept: omitted.map(([field]) => field) };
	}
}
