import type { IExecuteFunctions } from 'n8n-workflow';
import { callerOf } from '../caller/caller';

export function agentRunOf(context: IExecuteFunctions): string {
	return callerOf(context).agent?.run ?? 'agent';
}

export function isReviewed(context: IExecuteFunctions): boolean {
	return callerOf(context).agent?.isReviewed === true;
}

export function mcpSessionOf(context: IExecuteFunctions): string | undefined {
	return callerOf(context).mcpSession;
}
