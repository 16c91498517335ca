import compact from 'lodash/compact';
import {
	NodeApiError,
	NodeOperationError,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';
import { ExplainedError } from '../../core/service/errors';
import type { JsonObject } from '../../core/values/json';
import { displayText, messageOf } from '../../core/values/values';

export type ItemPosition = {
	itemIndex: number;
	/** The number of items. With more than one, a message names its item. */
	of: number;
	/** Of a sheet, as Google Sheets adds it. */
	rowNumber?: number | undefined;
	/** The person that the item is about. */
	person?: string;
};

/** Converts any error to n8n's: the message says what happened, the description what to do. */
export function toNodeError(
	node: INode,
	error: unknown,
	position?: ItemPosition,
): NodeApiError | NodeOperationError {
	const itemIndex = position === undefined ? {} : { itemIndex: position.itemIndex };
	if (isNodeError(error)) {
		if (position !== undefined) error.context.itemIndex = position.itemIndex;
		return error;
	}
	if (!(error instanceof ExplainedError)) {
		return new NodeOperationError(node, error instanceof Error ? error : String(error), itemIndex);
	}
	const message = withItem(displayText(error.message), position);
	const description = displayText(error.description);
	const { status } = error;
	// n8n would add its own number of the item to a message that names the row, and counts from 0.
	const ownIndex = position !== undefined && position.of > 1 ? {} : itemIndex;
	if (status === undefined) {
		return new NodeOperationError(node, message, { description, ...ownIndex });
	}
	const httpCode = String(status);
	return apiErrorOf(node, { httpCode }, { message, description, httpCode, ...ownIndex });
}

/** n8n replaces a message that contains a code such as ENOENT. The service's words may contain one. */
function apiErrorOf(
	node: INode,
	response: JsonObject,
	options: { message: string; description: string; httpCode?: string; itemIndex?: number },
): NodeApiError {
	return Object.assign(new NodeApiError(node, response, options), { message: options.message });
}

/** The error of a list in the editor, which shows the description only of this class. */
export function toListError(node: INode, error: unknown): NodeApiError {
	const nodeError = toNodeError(node, error);
	if (nodeError instanceof NodeApiError) return nodeError;
	const { message, description } = nodeError;
	return apiErrorOf(node, {}, { message, description: description ?? '' });
}

/**
 * The output item for a failed item if *On Error* is set to continue. n8n recognizes it for the error output only if
 * it has exactly these 3 fields.
 */
export function toErrorItem(error: unknown, position: ItemPosition): INodeExecutionData {
	const explained = error instanceof ExplainedError ? error : undefined;
	const text = messageOf(error);
	const details: JsonObject = { item: position.itemIndex };
	if (explained !== undefined) {
		details.outcome = explained.outcome;
		if (explained.originalMessage !== undefined)
			details[`${explained.origin}_said`] = explained.originalMessage;
		const { status } = explained;
		if (status !== undefined) details.status = status;
	}
	const json = {
		error: withItem(text, position),
		message: explained?.description ?? ((isNodeError(error) && error.description) || text),
		details,
	};
	return { json, pairedItem: { item: position.itemIndex } };
}

export function isNodeError(error: unknown): error is NodeApiError | NodeOperationError {
	return error instanceof NodeApiError || error instanceof NodeOperationError;
}

function withItem(message: string, position: ItemPosition | undefined): string {
	return position === undefined ? message : `${message} ${labelOf(position)}`.trim();
}

/** "[row 3, Asha]", counted as people count rows, or by the number in the sheet. Empty for the only item. */
export function labelOf({ itemIndex, of, rowNumber, person }: ItemPosition): string {
	const row = rowNumber === undefined ? `row ${itemIndex + 1}` : `row_number ${rowNumber}`;
	return of > 1 ? `[${compact([row, person]).join(', ')}]` : '';
}
