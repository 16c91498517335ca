import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidInput } from '../service/explained';
import { isJsonObject, type JsonObject } from '../service/types';

/**
 * Reads node parameters. One without an expression is the same for every item, so it is read once:
 * evaluating costs about 0.3 ms an item, which a feed of thousands feels.
 */
export class Parameters {
	private readonly fixed = new Map<string, unknown>();

	constructor(private readonly context: IExecuteFunctions) {}

	/** The value as it stands, `null` where the parameter is hidden or not set. */
	value(name: string, index: number): unknown {
		if (this.fixed.has(name)) return this.fixed.get(name);
		const raw: unknown = this.context.getNodeParameter(name, index, null, { rawExpressions: true });
		const value: unknown = this.context.getNodeParameter(name, index, null, {
			extractValue: isJsonObject(raw) && raw.__rl === true,
		});
		if (!hasExpression(raw)) this.fixed.set(name, value);
		return value;
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

	/** A collection or fixed collection; empty where it is not set. */
	record(name: string, index: number): JsonObject {
		const value = this.value(name, index);
		return isJsonObject(value) ? value : {};
	}
}

/** A JSON parameter given as text or, by an expression, as an object. */
export function parseJsonObject(value: unknown, label: string): JsonObject {
	if (isJsonObject(value)) return value;
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') return {};
	const parsed = tryParse(text);
	if (isJsonObject(parsed)) return parsed;
	throw new InvalidInput(
		`${label} is not a JSON object`,
		`Write ${label} as names and values in curly brackets, such as { "plan": "gold" }.`,
	);
}

function tryParse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function hasExpression(raw: unknown): boolean {
	if (typeof raw === 'string') return raw.startsWith('=');
	if (typeof raw !== 'object' || raw === null) return false;
	return Object.values(raw).some(hasExpression);
}
