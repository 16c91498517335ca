import { CALL_ID, UUID } from '../api/limits';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { isUnset } from '../values';

/** Anyone may have written the report. */
const MAX_CALL_ID_LENGTH = 128;

export const MAX_CALLS_PER_REPORT = 100;

/** A report with more values than this is not searched further, so that none can keep n8n busy. */
const MAX_VALUES = 100_000;

/** Their keys are free-form (Call record, Call request), so nothing in them is a field of the call. */
const FREE_FORM = ['data_captured', 'post_call_analysis', 'additional_data'];

/** One call that a completion webhook reports. */
export type ReportedCall = {
	callId: string;
	/** The object with its `call_id`. */
	record: JsonObject;
	/** All that is about this call alone: the whole report if it has no other call. */
	part: JsonValue;
};

/** Why a report is not used: nobody can tell all its calls, or they are too many. */
export type UnusableReport = 'too_many_values' | 'too_many_calls';

/** The same for each way to write the ID of a call: in a UUID, upper and lower case mean the same. */
export function callKey(callId: string): string {
	return UUID.test(callId) ? callId.toLowerCase() : callId;
}

/**
 * The calls of a report. The document says only that the payload includes `call_id`, not where: in an object the one
 * nearest to the top counts, and in a list each entry has its own.
 */
export function readReport(payload: JsonValue): ReportedCall[] | UnusableReport {
	const { places, completeTo } = placesIn(payload, (value) => callIdOf(value) !== undefined);
	const calls = callsAmong(places);
	if (calls.length > MAX_CALLS_PER_REPORT) return 'too_many_calls';
	const isComplete = calls.every((call) => call.depth <= completeTo && !isInList(call));
	if (completeTo < Infinity && !isComplete) return 'too_many_values';
	const shared = new Map<Place, number>();
	for (const place of calls.flatMap(around)) shared.set(place, (shared.get(place) ?? 0) + 1);
	return calls.flatMap((call) => {
		const { value } = call;
		const callId = callIdOf(value);
		if (callId === undefined || !isJsonObject(value)) return [];
		const own = around(call).filter((place) => shared.get(place) === 1);
		const part = own.findLast((place) => isJsonObject(place.value))?.value ?? value;
		return [{ callId, record: value, part: calls.length === 1 ? payload : part }];
	});
}

/**
 * A field of a reported call, from the object with its `call_id`, or else from around it: an envelope may have a field
 * of the same name. A list if there are several values, as nobody can tell which one is meant.
 */
export function reportedField({ record, part }: ReportedCall, name: string): JsonValue {
	const own = valuesOf(record, name);
	const values = own.length > 0 ? own : valuesOf(part, name);
	return values.length > 1 ? values : (values[0] ?? null);
}

function valuesOf(root: JsonValue, name: string): JsonValue[] {
	return placesIn(root)
		.places.map(({ value }) =>
			isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : null,
		)
		.filter((value) => value !== undefined && !isUnset(value))
		.map((value) => value ?? null);
}

function callIdOf(value: JsonValue): string | undefined {
	if (!isJsonObject(value) || !Object.hasOwn(value, 'call_id')) return undefined;
	const { call_id: id } = value;
	const isId = typeof id === 'string' && id.length <= MAX_CALL_ID_LENGTH && CALL_ID.test(id);
	return isId ? id : undefined;
}

/** A list or an object of a report, and what it stands in. */
type Place = { value: JsonValue; parent: Place | undefined; depth: number };

/**
 * Those nearest to the top first, without what stands in a leaf or in a free-form field.
 *
 * @returns the places, and the depth down to which all of them are there
 */
function placesIn(
	root: JsonValue,
	isLeaf: (value: JsonValue) => boolean = () => false,
): { places: Place[]; completeTo: number } {
	const places: Place[] = [{ value: root, parent: undefined, depth: 0 }];
	let values = 1;
	for (const place of places) {
		const { value } = place;
		if (typeof value !== 'object' || value === null || isLeaf(value)) continue;
		for (const [name, inner] of Object.entries(value)) {
			if (++values > MAX_VALUES) return { places, completeTo: place.depth };
			const isInside = typeof inner === 'object' && inner !== null && !FREE_FORM.includes(name);
			if (isInside) places.push({ value: inner, parent: place, depth: place.depth + 1 });
		}
	}
	return { places, completeTo: Infinity };
}

function around({ parent }: Place): Place[] {
	const places: Place[] = [];
	for (let place = parent; place !== undefined; place = place.parent) places.push(place);
	return places;
}

function isInList(place: Place): boolean {
	return around(place).some(({ value }) => Array.isArray(value));
}

/** Calls that were found in a place. */
class FoundCalls {
	/** One more than a report may have tells that it has too many. */
	readonly calls: Place[];
	/** Of the call nearest to the top. */
	private depth: number;
	/** Made when it's needed: to make it for each of many places takes long. */
	private keys: Set<string> | undefined;

	constructor(call: Place) {
		this.calls = [call];
		this.depth = call.depth;
	}

	/** Each entry of a list has its own. */
	addEntry({ calls, depth }: FoundCalls): void {
		this.depth = Math.min(this.depth, depth);
		this.add(calls);
	}

	/** What an object says of the same call in several of its fields is about one completion. */
	addField(others: FoundCalls): FoundCalls {
		if (others.depth !== this.depth) return others.depth > this.depth ? this : others;
		if (this.calls.length > MAX_CALLS_PER_REPORT) return this;
		this.keys ??= new Set(this.calls.map(keyOf));
		const { keys } = this;
		const isNew = (call: Place) => !keys.has(keyOf(call));
		const added = others.calls.filter(isNew);
		this.add(added);
		for (const call of added) keys.add(keyOf(call));
		return this;
	}

	private add(calls: Place[]): void {
		this.calls.push(...calls.slice(0, MAX_CALLS_PER_REPORT + 1 - this.calls.length));
	}
}

function keyOf({ value }: Place): string {
	return callKey(callIdOf(value) ?? '');
}

/** The calls of the outermost place, found from the innermost ones on. */
function callsAmong(places: Place[]): Place[] {
	const found = new Map<Place, FoundCalls>();
	for (const place of places.toReversed()) {
		const isCall = callIdOf(place.value) !== undefined;
		const own = isCall ? new FoundCalls(place) : found.get(place);
		found.delete(place);
		if (own === undefined) continue;
		const { parent } = place;
		if (parent === undefined) return own.calls.toReversed();
		const known = found.get(parent);
		if (known === undefined) found.set(parent, own);
		else if (Array.isArray(parent.value)) known.addEntry(own);
		else found.set(parent, known.addField(own));
	}
	return [];
}
