import {
	isResourceLocatorValue,
	type IHookFunctions,
	type INodeProperties,
	type IPollFunctions,
	type ITriggerFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import type { CallerRun } from '../caller/caller';
import { mayNameRow, whyUnread } from '../caller/rows';
import { Fields } from './fields';
import { ABSENT, hasExpression } from './fieldValue';

/** A parameter, and how its value is read for an item. */
type ParameterReading = {
	raw: unknown;
	valueAt: (index: number) => unknown;
	unread: string | undefined;
};

/** Reads the form of a node for each item. n8n evaluates an expression once per item, and fixed values are read once. */
export class NodeParameters {
	private readonly readings = new Map<string, ParameterReading>();

	/**
	 * @param form the fields of the node, or of its operation
	 * @param isReadOnly whether items may share what is read. An expression that doesn't refer to the item, such as `$now`, then
	 * has one value for all, so that they have the same list.
	 */
	constructor(
		private readonly run: CallerRun,
		private readonly form: readonly INodeProperties[],
		private readonly isReadOnly = false,
	) {}

	/** The fields of an item. */
	at(index: number): Fields {
		return new Fields(this.form, (path) => {
			const { raw, valueAt, unread } = this.reading(path, index);
			return { raw, value: () => valueAt(index), unread };
		});
	}

	private reading(path: string, index: number): ParameterReading {
		const known = this.readings.get(path);
		if (known !== undefined) return known;
		const raw: unknown = this.run.context.getNodeParameter(path, index, ABSENT, {
			rawExpressions: true,
		});
		const isOfModel = this.run.caller.kind === 'model';
		const unread = isOfModel ? whyUnread(this.run.context, raw) : undefined;
		const reading = { raw, valueAt: this.readerOf(path, index, raw), unread };
		this.readings.set(path, reading);
		return reading;
	}

	private readerOf(path: string, index: number, raw: unknown): ParameterReading['valueAt'] {
		const evaluate = (at: number): unknown =>
			this.run.context.getNodeParameter(valuePath(path, raw), at, null);
		const isSame = this.isReadOnly && typeof raw === 'string' && !mayNameRow(raw);
		if (hasExpression(raw) && !isSame) {
			// An expression takes about 0.5 ms, and a field may be read twice for an item.
			let known: { at: number; value: unknown } | undefined;
			return (at) => {
				if (known?.at !== at) known = { at, value: evaluate(at) };
				return known.value;
			};
		}
		const value = raw === ABSENT ? raw : evaluate(index);
		return () => value;
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
