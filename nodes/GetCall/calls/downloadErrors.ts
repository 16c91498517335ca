import {
	NotSent,
	OutcomeUnknown,
	ServiceRejection,
	type ExplainedError,
} from '../../shared/api/errors';
import { onScreenOnly, type Resolution } from '../../shared/api/modelAdvice';
import { BLOCKED_BY_N8N, type TransportFault } from '../../shared/api/http';

/** Redirects of one link that are followed. */
export const MAX_REDIRECTS = 5;

const AGAIN: Resolution = {
	onScreen: 'Run this item again: a new link is asked for each time.',
	forModel: 'Ask again: a new link is asked for each time.',
};

/** The status, and the short code of the kind of storage that writes one. */
function heard(status: number, text: string): string {
	const code = /<Code>([\w.-]{1,80})<\/Code>/.exec(text)?.[1];
	return [`HTTP status ${status}`, ...(code === undefined ? [] : [code])].join(' · ');
}

/** Statuses of a storage that takes the request later. */
const BUSY = new Set([408, 425, 429]);
/** Statuses with which a storage rejects a signature, or one that expired. */
const REJECTED = new Set([400, 401, 403]);

/**
 * Why storage did not give the file. Only its short code is kept: the rest of such an answer may
 * hold parts of the signed address.
 */
export function downloadRejected(status: number, text: string): ExplainedError {
	const originalMessage = heard(status, text);
	const rejection = { texts: [], body: {} };
	if (status >= 500 || BUSY.has(status)) {
		return new OutcomeUnknown('The recording’s storage stumbled', AGAIN, originalMessage, status);
	}
	if (status === 404 || status === 410) {
		const what = 'The recording is no longer in storage';
		return new ServiceRejection(
			what,
			onScreenOnly('Ask whoever runs your service how long it keeps recordings.'),
			originalMessage,
			status,
			rejection,
		);
	}
	if (!REJECTED.has(status)) return notARecording(`HTTP status ${status}`, status, text);
	return new ServiceRejection(
		'The link to the recording has expired or was rejected',
		{
			onScreen: `${AGAIN.onScreen} A link is valid for 15 minutes; if a new one is rejected too, compare the clocks of n8n and the service.`,
			forModel: AGAIN.forModel,
		},
		originalMessage,
		status,
		rejection,
	);
}

/**
 * The link returned something else, so no file is saved.
 *
 * @param what came, in words: "a web page"
 */
export function notARecording(what: string, status: number, text = ''): ServiceRejection {
	return new ServiceRejection(
		`The link to the recording returned ${what} instead of a recording, so no file was saved`,
		onScreenOnly(
			`Run this item again. If it stays so, set 'Recording As' to "Link" and open the link in a browser, or ask your service provider.`,
		),
		heard(status, text),
		status,
		{ texts: [], body: {} },
		'answer',
	);
}

/** The link led on and on. */
export function tooManyRedirects(status: number): ServiceRejection {
	return new ServiceRejection(
		`The link to the recording was redirected more than ${MAX_REDIRECTS} times or in a circle, so no file was saved`,
		onScreenOnly('Ask your service provider for links that lead to the recordings directly.'),
		heard(status, ''),
		status,
		{ texts: [], body: {} },
		'answer',
	);
}

/** The service answered, but with nothing that can be fetched. */
export function noLink(): ServiceRejection {
	return new ServiceRejection(
		'The service gave a recording_url that is not a web address, so the recording cannot be fetched',
		onScreenOnly('Set Recording As to Link to see what it gave.'),
		'HTTP status 200',
		200,
		{ texts: [], body: {} },
		'answer',
	);
}

/** Why a request for the file came to no answer. */
export function downloadFailed({ code, message }: TransportFault): NotSent | OutcomeUnknown {
	if (code !== BLOCKED_BY_N8N) return downloadBrokeOff(code);
	return new NotSent(
		'n8n did not let the request for the recording out',
		onScreenOnly(
			'Ask whoever runs your n8n to allow requests to the address where your service keeps recordings.',
		),
		message,
		false,
		'n8n',
	);
}

/** Why a file that began to come never ended. */
export function downloadBrokeOff(originalMessage: string): OutcomeUnknown {
	return new OutcomeUnknown(
		'The recording could not be fetched to its end',
		{
			onScreen: `Nothing was changed by this read. ${AGAIN.onScreen}`,
			forModel: AGAIN.forModel,
		},
		originalMessage,
	);
}
