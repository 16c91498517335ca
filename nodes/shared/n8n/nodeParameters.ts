import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput } from '../api/errors';
import { DEEPEST, isJsonObject, isTooDeep, type JsonObject, parseJson } from '../json';
import { isUnset, plainText } from '../values';
import { rowReader, UNREAD, type RowReader } from './rowExpression';
import { runsAsTool } from './toolRun';

/** How a parameter is read: once, straight from the item, or by n8n's expression engine. */
type ParameterReading =
	| { kind: 'fixed'; value: unknown }
	| { kind: 'row'; read: RowReader }
	| { kind: 'expression'; extractValue: boolean };

/**
 * Reads node parameters. Evaluating an expression costs about 0.3 ms an item, which thousands of
 * items feel: what is the same for every item is read once, what only picks values of the row from the item.
 */
export class NodeParameters {
	private readonly readings = new Map<string, ParameterReading>();
	private readonly items: INodeExecutionData[];
	private readonly readsRows: boolean;

	constructor(private readonly context: IExecuteFunctions) {
		this.items = context.getInputData();
		// A tool's input holds what the model chose, while `$json` may be the row that its agent works on.
		this.readsRows = !runsAsTool(context);
	}

	/**
	 * The value as it stands, `null` where the parameter is hidden or not set.
	 *
	 * @throws InvalidInput for one that could not be written as JSON
	 */
	value(name: string, index: number): unknown {
		return requireShallow(this.read(name, index));
	}

	private read(name: string, index: number): unknown {
		const reading = this.readings.get(name) ?? this.reading(name, index);
		if (reading.kind === 'fixed') return reading.value;
		if (reading.kind === 'row') {
			const value = reading.read(this.items[index]?.json ?? {});
			if (value !== UNREAD) return value ?? null;
		}
		const extractValue = reading.kind === 'expression' && reading.extractValue;
		try {
			return this.context.getNodeParameter(name, index, null, { extractValue });
		} catch (error) {
			// n8n goes through the value as well.
			const isStack = error instanceof RangeError && error.message.includes('call stack');
			throw isStack ? tooDeep() : error;
		}
	}

	private reading(name: string, index: number): ParameterReading {
		const raw: unknown = this.context.getNodeParameter(name, index, null, { rawExpressions: true });
		const reading = this.classify(name, index, raw);
		this.readings.set(name, reading);
		return reading;
	}

	private classify(name: string, index: number, raw: unknown): ParameterReading {
		const extractValue = isJsonObject(raw) && raw.__rl === true;
		if (hasExpression(raw)) {
			const read = this.readsRows ? rowReader(raw) : undefined;
			return read === undefined ? { kind: 'expression', extractValue } : { kind: 'row', read };
		}
		return {
			kind: 'fixed',
			value: this.context.getNodeParameter(name, index, null, { extractValue }),
		};
	}

	/** Text without white space around it; numbers become text, as spreadsheets mix them. */
	text(name: string, index: number): string {
		const value = this.value(name, index);
		if (typeof value === 'number' || typeof value === 'bigint') return String(value);
		return typeof value === 'string' ? value.trim() : '';
	}

	boolean(name: string, index: number): boolean {
		return this.value(name, index) === true;
	}

	/** What was chosen of a list; from a model it comes as text, with commas. */
	list(name: string, index: number): string[] {
		const value = this.value(name, index);
		const chosen: unknown[] = Array.isArray(value) ? value : this.text(name, index).split(',');
		return chosen.map((one) => plainText(one).trim()).filter((one) => one !== '');
	}

	/** A collection or fixed collection; empty where it is not set. */
	record(name: string, index: number): JsonObject {
		const value = this.value(name, index);
		return isJsonObject(value) ? value : {};
	}
}

/** A JSON parameter given as text or, by an expression, as an object. */
export function parseJsonObject(value: unknown, label: string): JsonObject {
	if (isJsonObject(value)) return value;
	if (isUnset(value)) return {};
	const parsed = typeof value === 'string' ? parseJson(value) : undefined;
	if (isJsonObject(parsed)) return parsed;
	throw new InvalidInput(
		`${label} is not a JSON object`,
		`Write ${label} as names and values in curly brackets, such as { "plan": "gold" }.`,
	);
}

/** @throws InvalidInput where lists and objects stand in each other too often: to go through them would break off halfway */
export function requireShallow<T>(value: T): T {
	if (isTooDeep(value)) throw tooDeep();
	return value;
}

function tooDeep(): InvalidInput {
	return new InvalidInput(
		`A field of this node contains lists or objects that are nested more than ${DEEPEST} levels deep, so nothing was sent`,
		'Take the part that is needed out of it in the node before this one.',
	);
}

function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	if (typeof raw !== 'object' || raw === null) return false;
	return Object.values(raw).some(hasExpression);
}
