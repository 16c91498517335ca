import type { INodeExecutionData } from 'n8n-workflow';
import type { KnownCall } from './openCalls';
import { isJsonObject, type JsonObject } from '../../shared/json';

/** The ID of a call to wait for; an item that was not placed has none. */
export function callIdOf({ json }: INodeExecutionData): string | undefined {
	return typeof json.call_id === 'string' ? json.call_id : undefined;
}

export function jsonOf({ json }: INodeExecutionData): JsonObject {
	return isJsonObject(json) ? json : {};
}

/** One item of the output: the call as the service holds it, and whether the wait ended before it did. */
export function waitedItem(
	placed: INodeExecutionData,
	index: number,
	{ record, isOver, refused }: KnownCall,
): INodeExecutionData {
	const json = {
		...(isOver ? {} : jsonOf(placed)),
		...record,
		timed_out: !isOver,
		...(refused !== undefined && { not_read: refused }),
	};
	return { json, pairedItem: { item: index } };
}
