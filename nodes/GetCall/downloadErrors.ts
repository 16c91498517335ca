import {
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
	type ErrorOrigin,
	type ExplainedError,
} from '../shared/api/errors';
import { onScreenOnly, type Explanation, type Resolution } from '../shared/api/resolution';
import { BLOCKED_BY_N8N, type TransportFault } from '../shared/api/http';
import { NO_ERROR_BODY } from '../shared/api/rejectionBody';

/** The code of a request that was redirected too often, or in a circle. */
export const TOO_MANY_REDIRECTS = 'ERR_FR_TOO_MANY_REDIRECTS';

const RUN_AGAIN: Resolution = {
	onScreen: 'Run this item again. The node gets a new link each time.',
	forModel: 'Try again. A new link is used each time.',
};

const NOT_STORED: Explanation = {
	message: 'The recording is no longer in storage',
	resolution: onScreenOnly('Ask your service provider how long recordings are stored.'),
};

const LINK_REJECTED: Explanation = {
	message: 'The link to the recording has expired or was rejected',
	resolution: {
		onScreen: `${RUN_AGAIN.onScreen} A link is valid for 15 minutes. If the storage rejects a new link, compare the clocks of n8n and the service.`,
		forModel: RUN_AGAIN.forModel,
	},
};

const BY_STATUS: { [status: number]: Explanation } = {
	400: LINK_REJECTED,
	401: LINK_REJECTED,
	403: LINK_REJECTED,
	404: NOT_STORED,
	410: NOT_STORED,
};

/** Statuses of a storage that may accept the request later, beside 5xx. */
const BUSY = new Set([408, 425, 429]);

/**
 * Why the storage didn't return the file. Only its error code is kept, because the rest of the response may contain
 * parts of the presigned URL.
 */
export function downloadRejected(status: number, text: string): ExplainedError {
	if (status >= 500 || BUSY.has(status)) {
		return new OutcomeUnknown(
			`The storage of the recording returned HTTP status ${status}`,
			RUN_AGAIN,
			statusText(status, text),
			status,
		);
	}
	const known = BY_STATUS[status];
	if (known === undefined) return notARecording(`HTTP status ${status}`, status, text);
	return rejected(known, status, text, 'service');
}

/**
 * The link returned something else, so no file is saved.
 *
 * @param content for the message, such as "a web page"
 */
export function notARecording(content: string, status: number, text = ''): ServiceRejection {
	const explanation = {
		message: `The link to the recording returned ${content} instead of a recording, so no file was saved`,
		resolution: onScreenOnly(
			`Run this item again. If this doesn't help, set 'Recording As' to 'Link' and open the link in a browser, or ask your service provider.`,
		),
	};
	return rejected(explanation, status, text);
}

/** The response of the service has no usable link. */
export function noLink(): ServiceRejection {
	const explanation = {
		message: "The service returned an invalid recording_url, so the recording can't be downloaded",
		resolution: onScreenOnly("To see it, set 'Recording As' to 'Link'."),
	};
	return rejected(explanation, 200);
}

/** Why a request for the file got no response. */
export function downloadFailed({ code, message }: TransportFault): NotSent | OutcomeUnknown {
	if (code === TOO_MANY_REDIRECTS) {
		return new OutcomeUnknown(
			'The link to the recording was redirected too often, so no file was saved',
			onScreenOnly('Ask your service provider for direct links to recordings.'),
		);
	}
	if (code !== BLOCKED_BY_N8N) return downloadInterrupted(code);
	return new NotSent(
		'n8n blocked the request for the recording',
		onScreenOnly(
			'Ask your n8n administrator to allow requests to the host where your service stores recordings.',
		),
		message,
		false,
		'n8n',
	);
}

/** The download of the file was interrupted. */
export function downloadInterrupted(originalMessage: string): OutcomeUnknown {
	return new OutcomeUnknown(
		"The recording couldn't be downloaded completely",
		{
			onScreen: `Nothing was changed. ${RUN_AGAIN.onScreen}`,
			forModel: RUN_AGAIN.forModel,
		},
		originalMessage,
	);
}

function rejected(
	{ message, resolution }: Explanation,
	status: number,
	text = '',
	origin: ErrorOrigin = 'response',
): ServiceRejection {
	const originalMessage = statusText(status, text);
	return new ServiceRejection(message, resolution, originalMessage, status, NO_ERROR_BODY, origin);
}

/** The HTTP status with the error code of the storage, if it has one. */
function statusText(status: number, text: string): string {
	const code = /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1];
	return [`HTTP status ${status}`, ...(code === undefined ? [] : [code])].join(' · ');
}
