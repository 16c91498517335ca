import { CALL_ID, UUID } from '../api/limits';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { isUnset } from '../values';

/** Limits the keys of forged reports. */
const MAX_CALL_ID_LENGTH = 128;

export const MAX_CALLS_PER_REPORT = 100;

/** Maximum number of values to search, so that no report can keep n8n busy. */
const MAX_VALUES = 100_000;

/** Fields with free-form content (Call record, Call request), which aren't searched. */
const FREE_FORM = ['data_captured', 'post_call_analysis', 'additional_data'];

/** A call in a completion webhook. */
export type ReportedCall = {
	callId: string;
	/** The object with the `call_id`. */
	record: JsonObject;
	/** The part of the report about this call only. The whole report if it has no other call. */
	part: JsonValue;
};

/** Why a report can't be used. */
export type UnusableReport = 'too_many_values' | 'too_many_calls';

/** A key for a call ID. The case of a UUID doesn't matter. */
export function callIdKey(callId: string): string {
	return UUID.test(callId) ? callId.toLowerCase() : callId;
}

/**
 * Finds the calls of a report. The position of `call_id` in the payload isn't documented. In an object, the one
 * closest to the top level counts. In a list, each entry has its own.
 */
export function readReport(payload: JsonValue): ReportedCall[] | UnusableReport {
	const { nodes, completeTo } = nodesIn(payload, (value) => callIdOf(value) !== undefined);
	const calls = callsAmong(nodes);
	if (calls.length > MAX_CALLS_PER_REPORT) return 'too_many_calls';
	const isComplete = calls.every((call) => call.depth <= completeTo && !isInList(call));
	if (completeTo < Infinity && !isComplete) return 'too_many_values';
	const sharedBy = new Map<Node, number>();
	for (const node of calls.flatMap(ancestorsOf)) sharedBy.set(node, (sharedBy.get(node) ?? 0) + 1);
	return calls.flatMap((call) => {
		const { value } = call;
		const callId = callIdOf(value);
		if (callId === undefined || !isJsonObject(value)) return [];
		const own = ancestorsOf(call).filter((node) => sharedBy.get(node) === 1);
		const part = own.findLast((node) => isJsonObject(node.value))?.value ?? value;
		return [{ callId, record: value, part: calls.length === 1 ? payload : part }];
	});
}

/**
 * A field of a reported call, from the object with its `call_id`, or else from the objects around it, because an
 * envelope may have a field of the same name. Several values are returned as a list.
 */
export function reportedField({ record, part }: ReportedCall, name: string): JsonValue {
	const own = valuesOf(record, name);
	const values = own.length > 0 ? own : valuesOf(part, name);
	return values.length > 1 ? values : (values[0] ?? null);
}

/** The value of a field at any depth, closest to the top level. What was captured in the call doesn't count. */
export function findField(payload: JsonValue, name: string): JsonValue | undefined {
	return valuesOf(payload, name)[0];
}

function valuesOf(root: JsonValue, name: string): JsonValue[] {
	return nodesIn(root)
		.nodes.map(({ value }) =>
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

/** A list or an object in a report, with its parent. */
type Node = { value: JsonValue; parent: Node | undefined; depth: number };

/**
 * The lists and objects of a report, those closest to the top level first. Skips the content of leaves and free-form
 * fields.
 *
 * @returns `completeTo`: the depth up to which all nodes are included
 */
function nodesIn(
	root: JsonValue,
	isLeaf: (value: JsonValue) => boolean = () => false,
): { nodes: Node[]; completeTo: number } {
	const nodes: Node[] = [{ value: root, parent: undefined, depth: 0 }];
	let values = 1;
	for (const node of nodes) {
		const { value } = node;
		if (typeof value !== 'object' || value === null || isLeaf(value)) continue;
		for (const [name, inner] of Object.entries(value)) {
			if (++values > MAX_VALUES) return { nodes, completeTo: node.depth };
			const isInside = typeof inner === 'object' && inner !== null && !FREE_FORM.includes(name);
			if (isInside) nodes.push({ value: inner, parent: node, depth: node.depth + 1 });
		}
	}
	return { nodes, completeTo: Infinity };
}

function ancestorsOf({ parent }: Node): Node[] {
	const nodes: Node[] = [];
	for (let node = parent; node !== undefined; node = node.parent) nodes.push(node);
	return nodes;
}

function isInList(node: Node): boolean {
	return ancestorsOf(node).some(({ value }) => Array.isArray(value));
}

/** The calls in a node. */
class FoundCalls {
	/** At most one more than the limit of a report. */
	readonly calls: Node[];
	/** Depth of the call closest to the top level. */
	private depth: number;
	/** Created on first use, to save time. */
	private keys: Set<string> | undefined;

	constructor(call: Node) {
		this.calls = [call];
		this.depth = call.depth;
	}

	/** Adds the calls of a list entry. */
	addEntry({ calls, depth }: FoundCalls): void {
		this.depth = Math.min(this.depth, depth);
		this.add(calls);
	}

	/** Adds the calls of an object's field. The same call in several fields counts once. */
	addField(others: FoundCalls): FoundCalls {
		if (others.depth !== this.depth) return others.depth > this.depth ? this : others;
		if (this.calls.length > MAX_CALLS_PER_REPORT) return this;
		this.keys ??= new Set(this.calls.map(keyOf));
		const { keys } = this;
		const isNew = (call: Node) => !keys.has(keyOf(call));
		const added = others.calls.filter(isNew);
		this.add(added);
		for (const call of added) keys.add(keyOf(call));
		return this;
	}

	private add(calls: Node[]): void {
		this.calls.push(...calls.slice(0, MAX_CALLS_PER_REPORT + 1 - this.calls.length));
	}
}

function keyOf({ value }: Node): string {
	return callIdKey(callIdOf(value) ?? '');
}

/** Collects the calls from the innermost nodes up to the root. */
function callsAmong(nodes: Node[]): Node[] {
	const found = new Map<Node, FoundCalls>();
	for (const node of nodes.toReversed()) {
		const isCall = callIdOf(node.value) !== undefined;
		const own = isCall ? new FoundCalls(node) : found.get(node);
		found.delete(node);
		if (own === undefined) continue;
		const { parent } = node;
		if (parent === undefined) return own.calls.toReversed();
		const known = found.get(parent);
		if (known === undefined) found.set(parent, own);
		else if (Array.isArray(parent.value)) known.addEntry(own);
		else found.set(parent, known.addField(own));
	}
	return [];
}
