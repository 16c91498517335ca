import type { WebSocket } from 'ws';
import type { SocketToken } from '../chat/tokens';
import type { Session } from '../chat/types';

export interface Connection {
	ws: WebSocket;
	session: Session;
	clientId: string;
	token: SocketToken;
	expiry: NodeJS.Timeout | null;
}

export interface ReceivedFrame {
	sessionId: string;
	clientId: string;
	at: number;
	text: string;
}
