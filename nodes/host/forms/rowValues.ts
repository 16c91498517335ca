import isEqual from 'lodash/isEqual';
import pick from 'lodash/pick';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { onScreenOnly, type Resolution } from '../../core/service/resolution';
import { rowReader, UNREAD, rowReferences, type RowReferences } from './expressions';
import { type Agent, type AgentRow, type AskingRow, TOOL_CALL_ID, isShown } from '../caller/agent';
import { inExpression } from '../nodeRun';
import type { CallerRun } from '../caller/caller';

const LOOP = 'add a Loop Over Items node with batch size 1 before the agent';
const WHICH_ROW = `Use AI Agent 3 or later, which tells its tools the row, or ${LOOP}. There, {{ $json.column }} is the column of the row.`;
const AFTER_REVIEW = `After a human review, n8n runs a tool for every row of the agent's input. To use the columns of a row, ${LOOP}.`;
const OWN_ROW =
	"For a column of the agent's input, use {{ $json.column }}, and give no argument of the model the name of a column. For a node with one item, use .first() instead of .item.";

/** Instead of a value that may be that of another row than the asking one. */
export class OfAnotherRow {
	constructor(readonly resolution: Resolution) {}
}

/**
 * Reads a parameter if an agent or an MCP client uses the node. Undefined in a workflow, which has a value for each item.
 *
 * @param evaluate has n8n evaluate the parameter for an item
 */
export function readerForAgent(
	{ context, caller }: CallerRun,
	raw: unknown,
	evaluate: (index: number) => unknown,
): (() => unknown) | undefined {
	const { agent } = caller;
	if (agent !== undefined) return () => valueForRow(context, agent, raw, evaluate);
	// An MCP client has no rows. n8n's item is the HTTP request.
	return caller.kind === 'model' ? () => evaluate(0) : undefined;
}

/**
 * The value of a parameter for the row that asks for a tool. n8n itself may return that of another row: for each row,
 * `$('Node').item` is the item of the first one, and the model's arguments replace columns with the same name.
 */
function valueForRow(
	context: IExecuteFunctions,
	agent: Agent,
	raw: unknown,
	evaluate: (index: number) => unknown,
): unknown {
	const references = rowReferences(raw);
	const { nodes, readsItem, hasOthers } = references;
	if (nodes.length === 0 && !readsItem && !hasOthers) return evaluate(0);
	const { possible, columns, item } = agent.row;
	if (item === undefined) {
		const value = evaluate(0);
		const others = [...possible.keys()].slice(1);
		const isSame = others.every((index) =>
			isEqual(
				orNothing(() => evaluate(index)),
				value,
			),
		);
		return isSame ? value : new OfAnotherRow(rowAdvice(agent));
	}
	const readRow = rowReader(raw) ?? (() => UNREAD);
	const besides = pick(item, TOOL_CALL_ID);
	const [value, ...others] = possible.map(({ json }) => readRow({ ...besides, ...json }));
	if (value !== UNREAD && others.every((other) => isEqual(other, value))) return value;
	const shown = columns && { ...besides, ...columns };
	const isRight =
		isShownRight(references, item, shown, agent.row) &&
		nodes.every((name) => isOwnItem(context, name, possible));
	if (isRight) return evaluate(0);
	return new OfAnotherRow(rowAdvice(agent));
}

/** What the person who builds the workflow can do, so that the row is certain. */
export function rowAdvice(agent: Agent): Resolution {
	const { item, columns } = agent.row;
	if (item === undefined) return onScreenOnly(WHICH_ROW);
	const mayBeAny = columns === undefined && agent.isReviewed;
	return onScreenOnly(mayBeAny ? AFTER_REVIEW : OWN_ROW);
}

/**
 * Whether n8n's item has the values of the asking row, as far as an expression reads it.
 *
 * @param row undefined if it isn't certain
 */
function isShownRight(
	{ readsItem, readsAnyField, fields, hasOthers }: RowReferences,
	item: IDataObject,
	row: IDataObject | undefined,
	{ which }: AskingRow,
): boolean {
	if (hasOthers && which !== 'only') return false;
	if (!readsItem) return true;
	if (row === undefined || (readsAnyField && !isShown(row, item))) return false;
	return fields.every((field) => !(field in item) || isEqual(item[field], row[field]));
}

/** Whether n8n resolves `$('Node').item` to the item that belongs to each of these rows. */
function isOwnItem(context: IExecuteFunctions, name: string, rows: readonly AgentRow[]): boolean {
	const node = `$(${inExpression(name)}, true)`;
	if (orNothing(() => context.evaluateExpression(`{{ ${node}.isExecuted }}`, 0)) === false)
		return true;
	const resolved = orNothing(() => context.evaluateExpression(`{{ ${node}.item.json }}`, 0));
	const { $getPairedItem } = context.getWorkflowDataProxy(0);
	return rows.every(({ place }) => {
		if (place === undefined) return false;
		const { source, item } = place;
		const own = orNothing(() => $getPairedItem(name, source, { item })?.json);
		return own !== undefined && isEqual(own, resolved);
	});
}

/** Undefined if n8n can't evaluate it. */
function orNothing(evaluate: () => unknown): unknown {
	try {
		return evaluate();
	} catch {
		return undefined;
	}
}
