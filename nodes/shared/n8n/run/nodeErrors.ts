import {
	NodeApiError,
	NodeOperationError,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { ExplainedError, OutcomeUnknown, ServiceRejection } from '../../api/errors';
import type { JsonObject } from '../../json';
import { displayText } from '../../values';

export type ItemPosition = {
	itemIndex: number;
	/** Number of items of the run; a message about one of several names its item. */
	of: number;
};

/** Turns what went wrong into n8n's own error: first what happened, then what to do. */
export function toNodeError(
	node: INode,
	error: unknown,
	position?: ItemPosition,
): NodeApiError | NodeOperationError {
	const itemIndex = position === undefined ? {} : { itemIndex: position.itemIndex };
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		if (position !== undefined) error.context.itemIndex = position.itemIndex;
		return error;
	}
	if (!(error instanceof ExplainedError)) {
		return new NodeOperationError(node, error instanceof Error ? error : String(error), itemIndex);
	}
	const message = withItem(displayText(error.message), position);
	const description = displayText(error.description);
	const status = statusOf(error);
	if (status === undefined) {
		return new NodeOperationError(node, message, { description, ...itemIndex });
	}
	const httpCode = String(status);
	return new NodeApiError(node, { httpCode }, { message, description, httpCode, ...itemIndex });
}

/**
 * What an item becomes under Continue On Fail. n8n takes it for the error output as long as it
 * has no other fields than these three.
 */
export function toErrorItem(error: unknown, position: ItemPosition): INodeExecutionData {
	const explained = error instanceof ExplainedError ? error : undefined;
	const text = error instanceof Error ? error.message : String(error);
	const details: JsonObject = { item: position.itemIndex };
	if (explained !== undefined) {
		details.outcome = explained.outcome;
		if (explained.originalMessage !== undefined)
			details[`${explained.origin}_said`] = explained.originalMessage;
		const status = statusOf(explained);
		if (status !== undefined) details.status = status;
	}
	const json = {
		error: withItem(text, position),
		message: explained === undefined ? text : explained.resolution,
		details,
	};
	return { json, pairedItem: { item: position.itemIndex } };
}

function statusOf(error: ExplainedError): number | undefined {
	if (error instanceof ServiceRejection || error instanceof OutcomeUnknown) return error.status;
	return undefined;
}

function withItem(message: string, position: ItemPosition | undefined): string {
	if (position === undefined || position.of < 2) return message;
	return `${message} [item ${position.itemIndex}]`;
}
