import { formOf } from '../modelForms';
import { quoted } from '../values';
import {
	CALL_PLACEMENT,
	type DocumentedError,
	ERROR_TABLE,
	UNDOCUMENTED_ERRORS,
} from './errorTable';
import type { ServiceRequest } from './http';
import type { RejectionBody } from './rejectionBody';
import { forEveryone, type Explanation } from './resolution';

const ANY: Explanation = {
	message: 'The service rejected the request',
	resolution: forEveryone('Correct what the service names, then try again.'),
	quotesService: true,
};

/** Such as a number on the do-not-disturb list, which the document gives no status or text for. */
const ANY_OF_CALL: Explanation = {
	message: 'The service rejected the call',
	resolution: {
		onScreen:
			'No call was placed. Correct what the service names. In the settings of this node, you can choose to continue with the other items.',
		forModel: 'Correct what the service names, if it can be corrected.',
	},
	quotesService: true,
};

const WITHOUT_REASON: Explanation = {
	message: 'The service rejected the request without a reason',
	resolution: {
		onScreen: 'Check the fields of this node and the IDs in them, then try again.',
		forModel: 'Check the values you gave.',
	},
};

/** The documented error of a body, if this endpoint can return it according to the document. */
export function documentedError(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): DocumentedError | undefined {
	return ERROR_TABLE.find(
		({ raisedBy, matches }) => raisedBy.test(endpointOf(request)) && matches(rejection, status),
	);
}

export function isDocumentedAt({ statuses }: DocumentedError, status: number): boolean {
	return statuses === 'unknown' || statuses.includes(status);
}

/** Explains a rejection by its body. Undefined if the error isn't documented. */
export function explainBody(
	rejection: RejectionBody,
	status: number,
	request: ServiceRequest,
): Explanation | undefined {
	const endpoint = endpointOf(request);
	const known = ERROR_TABLE.find(
		({ raisedBy, alsoExplains, matches }) =>
			(raisedBy.test(endpoint) || alsoExplains?.test(endpoint) === true) &&
			matches(rejection, status),
	);
	return known ?? explainPhoneNumber(rejection, status, request);
}

/**
 * "Implausible `phone_number` returns 400" (Endpoints › POST /v1/call, rule 1). The text isn't documented, so it must
 * have both words. It explains a rejection, but doesn't prove one.
 */
function explainPhoneNumber(
	{ texts }: RejectionBody,
	status: number,
	request: ServiceRequest,
): Explanation | undefined {
	const phone = request.body?.phone_number;
	const [text = '', ...others] = texts;
	const isMeant =
		CALL_PLACEMENT.test(endpointOf(request)) &&
		status === 400 &&
		others.length === 0 &&
		/\bphone_number\b/.test(text) &&
		/\b(?:im)?plausible\b/i.test(text);
	if (phone === undefined || !isMeant) return undefined;
	return {
		message: `The service rejected 'Phone Number' (got ${quoted(phone)})`,
		resolution: {
			onScreen: "Correct the number, or choose its country in 'Country'.",
			forModel: `Correct the number or its country. ${formOf('Phone Number')} ${formOf('Country')}`,
		},
	};
}

/**
 * Explains a rejection that isn't in the table, by its status.
 *
 * @param gaveReason whether the body has a text, which follows
 */
export function explainStatus(
	request: ServiceRequest,
	status: number,
	gaveReason: boolean,
): Explanation {
	const endpoint = endpointOf(request);
	const known = UNDOCUMENTED_ERRORS.find(
		(row) => row.raisedBy.test(endpoint) && row.status === status,
	);
	if (known !== undefined || !gaveReason) return known ?? WITHOUT_REASON;
	return CALL_PLACEMENT.test(endpoint) ? ANY_OF_CALL : ANY;
}

function endpointOf({ method, path }: ServiceRequest): string {
	return `${method} ${path}`;
}
