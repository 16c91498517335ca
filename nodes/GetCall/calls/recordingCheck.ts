import type { ServiceRejection } from '../../shared/api/errors';
import { notARecording } from './downloadErrors';
import { headerText, kindIn, type Headers } from './recordingFile';

/** The status of a complete file. Others mean an empty response (204), a part (206), or something else. */
const WHOLE_FILE = 200;

/** Types that aren't recordings. Some servers send recordings as `text/plain`. */
const OTHER_KINDS: ReadonlyArray<[RegExp, string]> = [
	[/^(?:text\/html|application\/xhtml\+xml)$/, 'a web page'],
	[/^(?:text|application)\/json$|\+json$/, 'JSON'],
	[/^(?:text|application)\/xml$|\+xml$/, 'XML'],
	[/^image\//, 'an image'],
];

/** Why a response isn't a recording, by its status, type, and length. `undefined` if it may be one. */
export function notARecordingReason(
	status: number,
	headers: Headers,
): ServiceRejection | undefined {
	if (status !== WHOLE_FILE) return notARecording(`HTTP status ${status}`, status);
	if (lengthIn(headers) === 0) return notARecording('an empty file', status);
	const type = kindIn(headers);
	const other = OTHER_KINDS.find(([kind]) => kind.test(type));
	return other === undefined ? undefined : notARecording(other[1], status);
}

/**
 * Whether a file arrived completely. Only a matching length in the header proves it, because n8n's HTTP helper doesn't
 * report a truncated compressed body. A different length may be that of the compressed body.
 *
 * @returns `null` if unknown
 */
export function isComplete(headers: Headers, bytes: number | undefined): true | null {
	return bytes !== undefined && lengthIn(headers) === bytes ? true : null;
}

function lengthIn(headers: Headers): number | undefined {
	const length = headerText(headers, 'content-length').trim();
	return /^\d+$/.test(length) ? Number(length) : undefined;
}
