import {
	isResourceLocatorValue,
	type IHookFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IPollFunctions,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { CallerRun } from '../caller/caller';
import { Fields } from './fields';
import { ABSENT, hasExpression } from './fieldValue';
import { mayNameRow, rowReader, UNREAD } from './expressions';
import { readerForAgent } from './rowValues';

/** A parameter, and how its value is read for an item. */
type ParameterReading = { raw: unknown; valueAt: (index: number) => unknown };

/**
 * Reads the form of a node for each item. An expression takes about 0.3 ms per item, which is slow for thousands of
 * items. So fixed values are read once, and expressions that only pick a field of the row are evaluated here.
 */
export class NodeParameters {
	private readonly readings = new Map<string, ParameterReading>();
	private readonly items: INodeExecutionData[];

	/**
	 * @param form the fields of the node, or of its operation
	 * @param isReadOnly whether items may share what is read. An expression that doesn't refer to the item, such as `$now`, then
	 * has one value for all, so that they have the same list.
	 */
	constructor(
		private readonly run: CallerRun,
		private readonly form: readonly INodeProperties[],
		private readonly isReadOnly = false,
	) {
		this.items = run.context.getInputData();
	}

	/** The fields of an item. */
	at(index: number): Fields {
		return new Fields(this.form, (path) => {
			const { raw, valueAt } = this.reading(path, index);
			return { raw, value: () => valueAt(index) };
		});
	}

	private reading(path: string, index: number): ParameterReading {
		const known = this.readings.get(path);
		if (known !== undefined) return known;
		const raw: unknown = this.run.context.getNodeParameter(path, index, ABSENT, {
			rawExpressions: true,
		});
		const reading = { raw, valueAt: this.readerOf(path, index, raw) };
		this.readings.set(path, reading);
		return reading;
	}

	private readerOf(path: string, index: number, raw: unknown): ParameterReading['valueAt'] {
		const evaluate = (at: number): unknown =>
			this.run.context.getNodeParameter(valuePath(path, raw), at, null);
		const isFixed = !hasExpression(raw);
		const ofAgent = isFixed ? undefined : readerForAgent(this.run, raw, evaluate);
		if (ofAgent !== undefined) return ofAgent;
		if (isFixed || (this.isReadOnly && typeof raw === 'string' && !mayNameRow(raw))) {
			const value = raw === ABSENT ? raw : evaluate(index);
			return () => value;
		}
		const readRow = rowReader(raw);
		if (readRow === undefined) return evaluate;
		return (at) => {
			const value = readRow(this.items[at]?.json ?? {});
			return value === UNREAD ? evaluate(at) : value;
		};
	}
}

/** The form of a node without input: a trigger or a webhook. */
export function formOf(
	context: IHookFunctions | ITriggerFunctions | IPollFunctions | IWebhookFunctions,
	form: readonly INodeProperties[],
): Fields {
	return new Fields(form, (path) => {
		const raw: unknown = context.getNodeParameter(path, ABSENT, { rawExpressions: true });
		const value = (): unknown => {
			try {
				return context.getNodeParameter(valuePath(path, raw), null);
			} catch {
				// An expression with an item, which there is none of. So it returns nothing.
				return undefined;
			}
		};
		return { raw, value };
	});
}

/** Where the value is. As part of a resource locator, n8n would turn a date into text. */
function valuePath(path: string, raw: unknown): string {
	return isResourceLocatorValue(raw) ? `${path}.value` : path;
}
