import { istTimestamp } from '../clock';
import type { Dialect } from '../dialects';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import type { Agent, Call, TranscriptTurn } from '../state/types';

/** Default record fields of a finished call. */
export function usualOutcome(call: Call, agent: Agent | undefined, now: number): JsonObject {
	return {
		status: 'picked',
		call_type: 'outbound',
		channel: 'sip',
		duration_seconds: 42,
		call_ended_by: 'agent',
		call_ended_reason: 'assistant-ended-call',
		call_ended_reason_message: 'The assistant ended the call after saying goodbye',
		tag: { id: 7, name: 'Interested', color_code: '#2E7D32' },
		call_picked_at: istTimestamp(now - 42_000),
		summary: `${call.callerName ?? 'The contact'} was reached and is interested.`,
		data_captured: captured(call.request),
		...(agent?.postCallAnalysis === true
			? { post_call_analysis: { sentiment: 'positive', callback_required: false } }
			: {}),
	};
}

/** One value for each data point that was asked for. */
function captured(request: JsonObject | null): JsonObject {
	const points = Array.isArray(request?.data_extraction) ? request.data_extraction : [];
	return Object.fromEntries(
		points
			.filter(isObject)
			.map((point, index) => [
				isNonEmptyString(point.key) ? point.key : `point_${index + 1}`,
				`answer ${index + 1}`,
			]),
	);
}

export function usualTranscript(dialect: Dialect, now: number): TranscriptTurn[] {
	const lines = [
		['assistant', 'Hello, do you have a minute?'],
		[dialect.calls.customerRole, 'Yes, go ahead.'],
		['assistant', 'Thank you. Goodbye.'],
	] as const;
	return lines.map(([role, content], index) => ({
		role,
		content,
		timestamp: istTimestamp(now - 42_000 + index * 5000),
	}));
}

/** A short, silent, valid WAV file. */
export function usualRecording(): Buffer {
	const samples = Buffer.alloc(1600, 128);
	const header = Buffer.alloc(44);
	header.write('RIFF', 0);
	header.writeUInt32LE(36 + samples.length, 4);
	header.write('WAVEfmt ', 8);
	header.writeUInt32LE(16, 16);
	header.writeUInt16LE(1, 20);
	header.writeUInt16LE(1, 22);
	header.writeUInt32LE(8000, 24);
	header.writeUInt32LE(8000, 28);
	header.writeUInt16LE(1, 32);
	header.writeUInt16LE(8, 34);
	header.write('data', 36);
	header.writeUInt32LE(samples.length, 40);
	return Buffer.concat([header, samples]);
}
